"""Installs official clients, starts servers for them, runs their suites and counts."""
