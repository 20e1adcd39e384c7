"""bot/interview/walk/"""
