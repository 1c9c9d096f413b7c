//! Converts the parts of messages into input for a model.

use a2a::binding::media_type::is_text;
use a2a::model::{Part, PartContent};
use chat::Content;

/// The parts of a message as model input: text, data as JSON, and files of the types in `takes`. Other files are described in
/// words.
pub(super) fn contents(parts: &[Part], takes: &[String]) -> Vec<Content> {
    let mut contents: Vec<Content> = Vec::new();
    for part in parts {
        match (content(part, takes), contents.last_mut()) {
            // Some models read only one text, so adjacent texts are joined.
            (Content::Text(text), Some(Content::Text(before))) => {
                before.push('\n');
                before.push_str(&text);
            }
            (content, _) => contents.push(content),
        }
    }
    contents
}

/// The parts as one text. Files are only named.
pub(super) fn as_text(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match content(part, &[]) {
        Content::Text(text) => text,
        Content::Image { .. } | Content::File { .. } => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// True if the parts contain files that a model with these input types can read, beyond the text of [`as_text`].
pub(super) fn has_files(parts: &[Part], takes: &[String]) -> bool {
    parts.iter().any(|part| !matches!(content(part, takes), Content::Text(_)))
}

fn content(part: &Part, takes: &[String]) -> Content {
    let media_type = part.media_type.as_deref().map(essence).unwrap_or_default();
    let is_taken = takes.iter().any(|kind| includes(kind, &media_type));
    let is_image = media_type.starts_with("image/");
    match &part.content {
        PartContent::Text(text) => Content::Text(text.to_string()),
        PartContent::Data(data) => Content::Text(data.as_str().to_owned()),
        PartContent::Url(url) if is_taken && is_image => Content::Image { url: url.to_string() },
        PartContent::Url(url) => Content::Text(format!("[{} at {}]", named(part), &**url)),
        PartContent::Raw(raw) => {
            if is_text(&media_type)
                && let Ok(text) = String::from_utf8(raw.bytes().to_vec())
            {
                return Content::Text(format!("[{}]\n{text}", named(part)));
            }
            let base64 = raw.as_str().to_owned();
            match (is_taken, is_image) {
                (true, true) => {
                    Content::Image { url: format!("data:{media_type};base64,{base64}") }
                }
                (true, false) => Content::File {
                    name: part.filename.as_deref().map(str::to_owned),
                    media_type,
                    base64,
                },
                (false, _) => {
                    let (name, bytes) = (named(part), raw.bytes().len());
                    Content::Text(format!("[{name} of {bytes} bytes, which you cannot read]"))
                }
            }
        }
    }
}

/// A media type without parameters, in lower case.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// True if a pattern such as `image/*` includes a media type.
fn includes(kind: &str, media_type: &str) -> bool {
    match kind.strip_suffix('*') {
        Some(prefix) => media_type.starts_with(prefix),
        None => kind == media_type,
    }
}

/// The name of a file for people: its file name, its media type, or both.
pub(super) fn named(part: &Part) -> String {
    match (&part.filename, &part.media_type) {
        (Some(name), Some(kind)) => format!("file {name} ({kind})"),
        (Some(name), None) => format!("file {name}"),
        (None, Some(kind)) => format!("file ({kind})"),
        (None, None) => "file".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn takes() -> Vec<String> {
        ["image/*", "application/pdf"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_model_is_told_every_part() {
        let image = Part::raw(b"\x89PNG", "image/png").with_filename("a.png");
        let linked = Part::url("https://a.example/b.png").with_media_type("image/png");
        let report = Part::raw(b"%PDF", "application/pdf").with_filename("r.pdf");
        let table = Part::raw(b"a,b", "text/csv; charset=utf-8").with_filename("t.csv");
        let sheet = Part::raw(b"PK", "application/zip");
        let text = |text: &str| Content::Text(text.to_owned());
        let told = contents(
            &[
                Part::text("look"),
                Part::data(json!({"a": 1})),
                image.clone(),
                linked,
                report,
                table,
                sheet,
            ],
            &takes(),
        );
        assert_eq!(
            told,
            [
                text("look\n{\"a\":1}"),
                Content::Image { url: "data:image/png;base64,iVBORw==".to_owned() },
                Content::Image { url: "https://a.example/b.png".to_owned() },
                Content::File {
                    name: Some("r.pdf".to_owned()),
                    media_type: "application/pdf".to_owned(),
                    base64: "JVBERg==".to_owned(),
                },
                text(
                    "[file t.csv (text/csv; charset=utf-8)]\na,b\n[file (application/zip) of 2 bytes, which you cannot read]"
                ),
            ]
        );
        let told = contents(std::slice::from_ref(&image), &[]);
        assert_eq!(told, [text("[file a.png (image/png) of 4 bytes, which you cannot read]")]);
        assert!(has_files(std::slice::from_ref(&image), &takes()));
        assert!(!has_files(&[image], &[]));
    }
}
