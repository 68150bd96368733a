import signal
import threading

import hypothesis
import numpy as np
import pytest
from sklearn.datasets import load_iris

import browsing

# No deadline: the first call of a kernel compiles it.
hypothesis.settings.register_profile("eocc", deadline=None, max_examples=60, derandomize=True)
hypothesis.settings.load_profile("eocc")

# A shell that starts the tests in the background ignores Ctrl-C, and Python inherits that.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.where(y == 0, 1, -1)


@pytest.fixture(scope="session")
def setosa(iris):
    X, y = iris
    return X[y == 1]


@pytest.fixture(scope="module")
def browser():
    driver = browsing.opened()
    yield driver
    driver.quit()
