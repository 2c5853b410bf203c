//! Variants in Parquet files, read and written by arrow-rs.
//!
//! ```text
//! frazil-interop read FILE               prints the column doc, one row a line
//! frazil-interop write IN OUT [SCHEMA]   writes the rows of IN as the column doc
//! ```
//!
//! A row is `null` for SQL NULL or `{"metadata":HEX,"value":HEX}`; read adds
//! `"json"`, the text of the value as JSON. SCHEMA is the shredding schema as JSON: a type's
//! name, `[element]`, or `{"name":field,...}`; without it nothing is shredded.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet_variant::Variant;
use parquet_variant_compute::{shred_variant, unshred_variant, VariantArray};
use parquet_variant_json::VariantToJson;
use serde_json::{json, Value};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["read", file] => read(file),
        ["write", input, output] => write(input, output, None),
        ["write", input, output, schema] => write(input, output, Some(schema)),
        _ => Err("usage: read FILE | write IN OUT [SCHEMA]".into()),
    }
}

fn read(file: &str) -> Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?.build()? {
        let batch = batch?;
        let column = batch.column_by_name("doc").ok_or("no column doc")?;
        let plain = unshred_variant(&VariantArray::try_new(column)?)?;
        let metadata = cast(plain.metadata_column(), &DataType::Binary)?;
        let values = cast(plain.value_column(), &DataType::Binary)?;
        for i in 0..plain.len() {
            if plain.is_null(i) {
                writeln!(out, "null")?;
                continue;
            }
            let (m, v) = (metadata.as_binary::<i32>().value(i), values.as_binary::<i32>().value(i));
            let text = Variant::try_new(m, v)?.to_json_string()?;
            writeln!(out, "{}", json!({"metadata": hex(m), "value": hex(v), "json": text}))?;
        }
    }
    Ok(out.flush()?)
}

fn write(input: &str, output: &str, schema: Option<&str>) -> Result<()> {
    let mut array = rows(input)?;
    if let Some(text) = schema {
        array = shred_variant(&array, &data_type(&serde_json::from_str(text)?)?)?;
    }
    let field = array.field("doc").with_nullable(true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![ArrayRef::from(array)])?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(1000))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(output)?, schema, Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

/// Reads the lines of a file as an unshredded array.
fn rows(input: &str) -> Result<VariantArray> {
    let (mut metadata, mut values, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for line in BufReader::new(File::open(input)?).lines() {
        let row: Value = serde_json::from_str(&line?)?;
        valid.push(!row.is_null());
        if row.is_null() {
            // What lies below a null is not looked at, but must be there.
            metadata.push(vec![1, 0, 0]);
            values.push(vec![0]);
            continue;
        }
        metadata.push(unhex(&row["metadata"])?);
        values.push(unhex(&row["value"])?);
    }
    let fields = Fields::from(vec![
        Field::new("metadata", DataType::Binary, false),
        Field::new("value", DataType::Binary, false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryArray::from_iter_values(metadata)),
        Arc::new(BinaryArray::from_iter_values(values)),
    ];
    let group = StructArray::try_new(fields, columns, Some(NullBuffer::from(valid)))?;
    Ok(VariantArray::try_new(&group)?)
}

fn data_type(schema: &Value) -> Result<DataType> {
    match schema {
        Value::String(name) => leaf(name),
        Value::Array(element) => {
            let item = data_type(element.first().ok_or("a list without element")?)?;
            Ok(DataType::List(Arc::new(Field::new("item", item, true))))
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, s)| Ok(Field::new(name, data_type(s)?, true)))
            .collect::<Result<Vec<_>>>()
            .map(|f| DataType::Struct(f.into())),
        _ => Err(json!({"no schema": schema}).to_string().into()),
    }
}

fn leaf(name: &str) -> Result<DataType> {
    let utc = Some(Arc::from("UTC"));
    Ok(match name {
        "boolean" => DataType::Boolean,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "string" => DataType::Utf8,
        "binary" => DataType::Binary,
        "uuid" => DataType::FixedSizeBinary(16),
        "date" => DataType::Date32,
        "time" => DataType::Time64(TimeUnit::Microsecond),
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, utc),
        "timestamp_ntz" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "timestamp_nanos" => DataType::Timestamp(TimeUnit::Nanosecond, utc),
        "timestamp_ntz_nanos" => DataType::Timestamp(TimeUnit::Nanosecond, None),
        _ => return decimal(name).ok_or_else(|| format!("no type {name}").into()),
    })
}

/// Parses `decimal(precision,scale)`; the precision decides on the width.
fn decimal(name: &str) -> Option<DataType> {
    let (p, s) = name.strip_prefix("decimal(")?.strip_suffix(')')?.split_once(',')?;
    let (p, s) = (p.parse().ok()?, s.parse().ok()?);
    Some(match p {
        1..=9 => DataType::Decimal32(p, s),
        10..=18 => DataType::Decimal64(p, s),
        _ => DataType::Decimal128(p, s),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &Value) -> Result<Vec<u8>> {
    let text = text.as_str().ok_or("no hexadecimal text")?;
    (0..text.len()).step_by(2).map(|i| Ok(u8::from_str_radix(&text[i..i + 2], 16)?)).collect()
}
