"""Settings of the whole test suite."""

from hypothesis import HealthCheck, settings

# A busy machine is no failure, and a run that cannot be repeated is no help.
settings.register_profile(
    "fullcount",
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fullcount")
