"""bot/interview/reading/"""
