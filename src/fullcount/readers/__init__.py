"""Readers: they parse files, and import no harness."""
