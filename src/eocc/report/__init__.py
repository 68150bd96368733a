"""A fitted classifier -> one HTML page that tells what it learned and how it decides; it needs nothing else."""

from eocc.report.page import write_report

__all__ = ["write_report"]
