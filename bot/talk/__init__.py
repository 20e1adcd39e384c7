"""talk"""
