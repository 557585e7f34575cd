"""The intermediate form: functions of loops over scalars, arrays and records. Back ends take nothing else."""
