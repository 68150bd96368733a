"""A fitted classifier -> one HTML page: what it learned, and how it decides."""

from eocc.report.page import write_report

__all__ = ["write_report"]
