"""bot/interview/form/"""
