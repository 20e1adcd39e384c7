"""What raters say of answers: labels and verdicts, what needs people, queues, and sessions at the terminal.

From outside: `Label`, `Verdicts`, `load_labels`, `label_files`, `judge_all`, `items_to_label`, `label_in_terminal`.
Imports `running`.
"""
