"""The intermediate form: functions of loops over scalars, arrays and records. It is the only input of back ends."""
