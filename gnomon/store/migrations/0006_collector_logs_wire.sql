-- What an INSERT of OTLP bytes names: one row for each ResourceLogs, nothing is kept here.
CREATE TABLE IF NOT EXISTS logs_wire {{on_cluster}}
(
    resource Tuple(attributes Array(Tuple(key String, value Tuple(
        string_value Nullable(String), bool_value Nullable(String),
        int_value Nullable(String), double_value Nullable(String),
        array_value Tuple(values Array(Tuple(
            string_value Nullable(String), bool_value Nullable(String),
            int_value Nullable(String), double_value Nullable(String),
            bytes_value Nullable(String)
        ))),
        bytes_value Nullable(String)
    )))),
    scope_logs Array(Tuple(
        scope Tuple(name String, version String, attributes Array(Tuple(key String, value Tuple(
            string_value Nullable(String), bool_value Nullable(String),
            int_value Nullable(String), double_value Nullable(String),
            array_value Tuple(values Array(Tuple(
                string_value Nullable(String), bool_value Nullable(String),
                int_value Nullable(String), double_value Nullable(String),
                bytes_value Nullable(String)
            ))),
            bytes_value Nullable(String)
        )))),
        log_records Array(Tuple(
            time_unix_nano UInt64,
            observed_time_unix_nano UInt64,
            severity_number Int32,
            severity_text String,
            body Tuple(
                string_value Nullable(String), bool_value Nullable(String),
                int_value Nullable(String), double_value Nullable(String),
                array_value Tuple(values Array(Tuple(
                    string_value Nullable(String), bool_value Nullable(String),
                    int_value Nullable(String), double_value Nullable(String),
                    bytes_value Nullable(String)
                ))),
                bytes_value Nullable(String)
            ),
            attributes Array(Tuple(key String, value Tuple(
                string_value Nullable(String), bool_value Nullable(String),
                int_value Nullable(String), double_value Nullable(String),
                array_value Tuple(values Array(Tuple(
                    string_value Nullable(String), bool_value Nullable(String),
                    int_value Nullable(String), double_value Nullable(String),
                    bytes_value Nullable(String)
                ))),
                bytes_value Nullable(String)
            ))),
            dropped_attributes_count UInt32,
            flags UInt32,
            trace_id String,
            span_id String,
            event_name String
        )),
        schema_url String
    )),
    schema_url String
)
ENGINE = Null
