"""bot/interview/formulas/"""
