"""Tests of what asks language models."""
