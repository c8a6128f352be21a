# SPDX-License-Identifier: Apache-2.0
"""A trace for the checkers of tests: sqlite3.connect(), and calls in blocks are rows of `calls`."""
import os
import sqlite3


def connect(path):
    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    db.load_extension(os.path.join(os.path.dirname(os.path.abspath(__file__)), "culprit_calls.so"))
    return db
