from fullcount.testing import ExporterContract


class TestNative(ExporterContract):
    exporter = "native"
