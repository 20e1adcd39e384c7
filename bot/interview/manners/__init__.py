"""bot/interview/manners/"""
