-- What an INSERT of OTLP bytes names: one row for each ResourceSpans, nothing is kept here.
-- Members of AnyValue are Nullable texts: ClickHouse converts while it parses, and 0, 0.0, false
-- and '' stay distinct from absent. The names are those of the schema in collector/wire.py.
CREATE TABLE IF NOT EXISTS spans_wire {{on_cluster}}
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
    scope_spans Array(Tuple(
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
        spans Array(Tuple(
            trace_id String,
            span_id String,
            trace_state String,
            parent_span_id String,
            name String,
            kind Int32,
            start_time_unix_nano UInt64,
            end_time_unix_nano UInt64,
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
            events Array(Tuple(
                time_unix_nano UInt64,
                name String,
                attributes Array(Tuple(key String, value Tuple(
                    string_value Nullable(String), bool_value Nullable(String),
                    int_value Nullable(String), double_value Nullable(String),
                    array_value Tuple(values Array(Tuple(
                        string_value Nullable(String), bool_value Nullable(String),
                        int_value Nullable(String), double_value Nullable(String),
                        bytes_value Nullable(String)
                    ))),
                    bytes_value Nullable(String)
                )))
            )),
            dropped_events_count UInt32,
            links Array(Tuple(
                trace_id String,
                span_id String,
                trace_state String,
                attributes Array(Tuple(key String, value Tuple(
                    string_value Nullable(String), bool_value Nullable(String),
                    int_value Nullable(String), double_value Nullable(String),
                    array_value Tuple(values Array(Tuple(
                        string_value Nullable(String), bool_value Nullable(String),
                        int_value Nullable(String), double_value Nullable(String),
                        bytes_value Nullable(String)
                    ))),
                    bytes_value Nullable(String)
                )))
            )),
            dropped_links_count UInt32,
            status Tuple(message String, code Int32)
        ))
    ))
)
ENGINE = Null
