"""Tests of the Batch API."""
