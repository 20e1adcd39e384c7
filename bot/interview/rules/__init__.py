"""bot/interview/rules/"""
