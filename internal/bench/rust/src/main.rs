//! The Rust side of internal/bench: parquet-variant at the same jobs.
//!
//!     frazil-bench-rust DOCS VALUES COPIES
//!
//! DOCS holds JSON texts, each ended by byte 0x1E. VALUES holds the Variants that
//! package variant made of them, each as two lengths (4 bytes, little-endian) with
//! metadata and value behind. Each line of standard input names a job; the answer
//! is the CPU time of going once over COPIES times all documents, in nanoseconds,
//! or "error" with the reason. The job "text PATH" writes the JSON of its values
//! instead and answers 0; "size" answers the bytes of all values.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{env, fs};

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, Field};
use parquet_variant::{Variant, VariantBuilder, VariantPath, VariantPathElement};
use parquet_variant_compute::{GetOptions, json_to_variant, variant_get};
use parquet_variant_json::{JsonToVariant, VariantToJson};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One Variant: metadata and value.
type Pair = (Vec<u8>, Vec<u8>);

struct Corpus {
    texts: ArrayRef,
    own: Vec<Pair>,
    ours: Vec<Pair>,
    batch: ArrayRef,
}

fn main() -> Result<()> {
    let args: Vec<String> = env::args().collect();
    let corpus = load(&args[1], &args[2], args[3].parse()?)?;
    println!("ready");
    for line in io::stdin().lock().lines() {
        let line = line?;
        match catch_unwind(AssertUnwindSafe(|| run(&corpus, &line))) {
            Ok(Ok(spent)) => println!("{spent}"),
            Ok(Err(e)) => println!("error {}", e.to_string().replace('\n', " ")),
            Err(_) => println!("error panics"),
        }
    }
    Ok(())
}

fn load(docs: &str, values: &str, copies: usize) -> Result<Corpus> {
    let text = fs::read_to_string(docs)?;
    let docs: Vec<&str> = text.split_terminator('\x1e').collect();
    let rows = (0..copies).flat_map(|_| docs.iter().copied());
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(rows));
    let mut own = Vec::new();
    for row in strings(&texts) {
        own.push(parse(row)?);
    }
    let bytes = fs::read(values)?;
    let once = pairs(&bytes)?;
    let ours = (0..copies).flat_map(|_| once.iter().cloned()).collect();
    let batch = json_to_variant(&texts)?.into();
    Ok(Corpus {
        texts,
        own,
        ours,
        batch,
    })
}

fn pairs(mut bytes: &[u8]) -> Result<Vec<Pair>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let (metadata, rest) =
            bytes[8..].split_at(u32::from_le_bytes(bytes[..4].try_into()?) as usize);
        let (value, rest) = rest.split_at(u32::from_le_bytes(bytes[4..8].try_into()?) as usize);
        out.push((metadata.to_vec(), value.to_vec()));
        bytes = rest;
    }
    Ok(out)
}

fn strings(texts: &ArrayRef) -> impl Iterator<Item = &str> {
    let array = texts
        .as_any()
        .downcast_ref::<StringArray>()
        .expect("texts are strings");
    (0..array.len()).map(|i| array.value(i))
}

fn run(c: &Corpus, line: &str) -> Result<u64> {
    let (job, argument) = line.split_once(' ').unwrap_or((line, ""));
    match job {
        "parse" => timed(|| Ok(drop(black_box(json_to_variant(&c.texts)?)))),
        "parse-rows" => timed(|| {
            for row in strings(&c.texts) {
                black_box(parse(row)?);
            }
            Ok(())
        }),
        "print" => timed(|| print_all(&c.own)),
        "print-ours" => timed(|| print_all(&c.ours)),
        "validate" => timed(|| validate_all(&c.own)),
        "validate-ours" => timed(|| validate_all(&c.ours)),
        "get" => timed(|| get_columns(&c.batch)),
        "get-path" => timed(|| get_values(&c.own)),
        "text" => write_texts(&c.own, argument).map(|()| 0),
        "size" => Ok(c.own.iter().map(|(m, v)| (m.len() + v.len()) as u64).sum()),
        _ => Err(format!("no job {job}").into()),
    }
}

/// timed returns the CPU time of the process that f takes.
fn timed(f: impl FnOnce() -> Result<()>) -> Result<u64> {
    let start = cpu_time();
    f()?;
    Ok(cpu_time() - start)
}

fn cpu_time() -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: t is a valid place for the answer.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    assert_eq!(status, 0);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

fn parse(text: &str) -> Result<Pair> {
    let mut builder = VariantBuilder::new();
    builder.append_json(text)?;
    Ok(builder.finish())
}

fn print_all(values: &[Pair]) -> Result<()> {
    let mut out = Vec::new();
    for (metadata, value) in values {
        out.clear();
        Variant::new(metadata, value).to_json(&mut out)?;
        black_box(&out);
    }
    Ok(())
}

fn write_texts(values: &[Pair], path: &str) -> Result<()> {
    let mut out = io::BufWriter::new(fs::File::create(path)?);
    for (metadata, value) in values {
        Variant::new(metadata, value).to_json(&mut out)?;
        out.write_all(b"\x1e")?;
    }
    Ok(out.flush()?)
}

fn validate_all(values: &[Pair]) -> Result<()> {
    for (metadata, value) in values {
        black_box(Variant::try_new(metadata, value)?);
    }
    Ok(())
}

/// The five paths of peers.go, each with the type of its column.
fn paths() -> Vec<(VariantPath<'static>, DataType)> {
    let field = |name: &'static str| VariantPathElement::field(name);
    let path = |elements: Vec<VariantPathElement<'static>>| VariantPath::new(elements);
    vec![
        (
            path(vec![field("greeks"), field("delta")]),
            DataType::Float64,
        ),
        (
            path(vec![
                field("scenarios"),
                VariantPathElement::index(0),
                field("breakdown"),
                field("by_region"),
                field("EMEA"),
            ]),
            DataType::Float64,
        ),
        (
            path(vec![
                field("model_params"),
                field("calibration"),
                field("fit_error"),
            ]),
            DataType::Float64,
        ),
        (path(vec![field("dv01")]), DataType::Float64),
        (path(vec![field("model")]), DataType::Utf8),
    ]
}

fn get_columns(batch: &ArrayRef) -> Result<()> {
    for (path, kind) in paths() {
        let field = Arc::new(Field::new("x", kind, true));
        let options = GetOptions::new_with_path(path).with_as_type(Some(field));
        black_box(variant_get(batch, options)?);
    }
    Ok(())
}

fn get_values(values: &[Pair]) -> Result<()> {
    let paths = paths();
    for (metadata, value) in values {
        let variant = Variant::new(metadata, value);
        for (path, _) in &paths {
            black_box(variant.get_path(path));
        }
    }
    Ok(())
}
