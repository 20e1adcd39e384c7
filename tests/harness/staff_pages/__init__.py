"""Tests of the harness in the staff console."""
