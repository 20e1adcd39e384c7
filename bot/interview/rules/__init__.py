"""The rules of a form, once: enabled, limits, options, units, attachments, references, constraints.

Engine and validator ask them. Imports: values, form.
"""
