"""A fitted classifier -> one HTML page: what it learned and how it decides, or the rows that it asks about."""

from eocc.base.vocabulary import completed
from eocc.report.page import write_report
from eocc.report.review import write_review

__all__ = ["write_report", "write_review"]
for _name in __all__:
    completed(globals()[_name])
