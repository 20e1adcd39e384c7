"""The console: pages for radiology staff. Each address names the task that it asks for: `Console.addresses`.

From outside: `open_console`, `AssistantAside` (opening.py), `Console` (console.py), `Tools` (tools.py),
`Address`, `Area` (area.py), `ExamFilter` (exams.py), `StaffVisit` (visit.py). Imports: anything but commands.
"""
