"""Say where the screenshots of the browser tests are."""

from report.browser import SCREENSHOTS


def pytest_terminal_summary(terminalreporter):
    if SCREENSHOTS.is_dir():
        terminalreporter.write_line(f"Screenshots of pages: {SCREENSHOTS}")
