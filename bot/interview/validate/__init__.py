"""bot/interview/validate/"""
