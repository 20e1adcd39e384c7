"""bot/interview/values/"""
