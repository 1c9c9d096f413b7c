//! The authentication schemes in the cards of other agents, translated to 1.0.
//!
//! An unknown scheme is not an error of the card: a caller may have the credentials although the client cannot read the
//! scheme.

use serde_json::{Map, Value};

use crate::dialect::card::KINDS;
use crate::model::decode::Fields;
use crate::model::{
    ApiKeySecurityScheme, HttpAuthSecurityScheme, MutualTlsSecurityScheme, OAuth2SecurityScheme,
    OAuthFlows, OpenIdConnectSecurityScheme, SecurityRequirement, SecurityScheme, StringList,
};
use crate::sorted::SortedMap;

/// The schemes of a card that 1.0 defines.
pub(super) fn schemes(member: Option<Value>) -> SortedMap<String, SecurityScheme> {
    let Some(Value::Object(members)) = member else { return SortedMap::new() };
    let known = members.into_iter();
    known.filter_map(|(name, value)| Some((name, scheme(value.as_object()?)?))).collect()
}

/// Parses a scheme: an object with one member (1.0), or an object with a `type` (0.3).
fn scheme(members: &Map<String, Value>) -> Option<SecurityScheme> {
    let wrapped = KINDS.iter().find_map(|(wrapper, _)| {
        let inner = members.get(*wrapper).or_else(|| members.get(&snake(wrapper)))?.as_object()?;
        Some((*wrapper, inner))
    });
    let (wrapper, inner) = wrapped.or_else(|| {
        let kind = members.get("type")?.as_str()?;
        let (wrapper, _) = KINDS.iter().find(|(_, known)| *known == kind)?;
        Some((*wrapper, members))
    })?;
    let description = text(inner, "description");
    let needed = |name: &str| text(inner, name);
    Some(match wrapper {
        "apiKeySecurityScheme" => {
            let location = needed("location").or_else(|| needed("in"))?;
            let name = needed("name")?;
            SecurityScheme::ApiKey(ApiKeySecurityScheme { description, location, name })
        }
        "httpAuthSecurityScheme" => {
            let (scheme, bearer_format) = (needed("scheme")?, text(inner, "bearerFormat"));
            SecurityScheme::HttpAuth(HttpAuthSecurityScheme { description, scheme, bearer_format })
        }
        "oauth2SecurityScheme" => {
            let flows = flows(inner.get("flows")?.as_object()?)?;
            let metadata_url = text(inner, "oauth2MetadataUrl");
            let scheme = OAuth2SecurityScheme { description, flows, metadata_url };
            SecurityScheme::OAuth2(Box::new(scheme))
        }
        "openIdConnectSecurityScheme" => {
            let open_id_connect_url = needed("openIdConnectUrl")?;
            let scheme = OpenIdConnectSecurityScheme { description, open_id_connect_url };
            SecurityScheme::OpenIdConnect(scheme)
        }
        _ => SecurityScheme::MutualTls(MutualTlsSecurityScheme { description }),
    })
}

/// The OAuth flow of a scheme; of several flows, which 0.3 allows, the first flow in the order of this function.
fn flows(flows: &Map<String, Value>) -> Option<OAuthFlows> {
    let flow = |name: &str| flows.get(name).and_then(Value::as_object);
    let scopes = |flow: &Map<String, Value>| {
        let scopes = flow.get("scopes").and_then(Value::as_object).into_iter().flatten();
        let word = |word: &Value| word.as_str().unwrap_or_default().to_owned();
        scopes.map(|(name, about)| (name.clone(), word(about))).collect::<SortedMap<_, _>>()
    };
    if let Some(flow) = flow("authorizationCode") {
        return Some(OAuthFlows::AuthorizationCode {
            authorization_url: text(flow, "authorizationUrl")?,
            token_url: text(flow, "tokenUrl")?,
            refresh_url: text(flow, "refreshUrl"),
            scopes: scopes(flow),
            pkce_required: flow.get("pkceRequired") == Some(&Value::Bool(true)),
        });
    }
    if let Some(flow) = flow("clientCredentials") {
        return Some(OAuthFlows::ClientCredentials {
            token_url: text(flow, "tokenUrl")?,
            refresh_url: text(flow, "refreshUrl"),
            scopes: scopes(flow),
        });
    }
    let flow = flow("deviceCode")?;
    Some(OAuthFlows::DeviceCode {
        device_authorization_url: text(flow, "deviceAuthorizationUrl")?,
        token_url: text(flow, "tokenUrl")?,
        refresh_url: text(flow, "refreshUrl"),
        scopes: scopes(flow),
    })
}

/// The alternatives by which a caller can authenticate: `securityRequirements` (1.0), `security` (0.3), or the words of
/// `authentication` (0.1). Each of these words that is an HTTP authentication scheme becomes a scheme of that name.
pub(super) fn requirements(
    fields: &mut Fields,
    schemes: &mut SortedMap<String, SecurityScheme>,
) -> Vec<SecurityRequirement> {
    let list = |value: Option<Value>| match value {
        Some(Value::Array(elements)) => Some(elements),
        _ => None,
    };
    let stated = list(fields.member("securityRequirements"));
    let (stated, older) = (stated, list(fields.member("security")));
    if let Some(stated) = stated.or(older) {
        return stated.iter().filter_map(Value::as_object).map(requirement).collect();
    }
    let oldest =
        fields.member("authentication").and_then(|mut it| it.get_mut("schemes").map(Value::take));
    let mut all = Vec::new();
    for word in list(oldest).iter().flatten().filter_map(Value::as_str) {
        if !word.eq_ignore_ascii_case("apikey") && word != "cookie" {
            let (description, bearer_format, scheme) = (None, None, word.to_owned());
            let scheme = HttpAuthSecurityScheme { description, scheme, bearer_format };
            schemes.get_or_insert_with(word.to_owned(), || SecurityScheme::HttpAuth(scheme));
        }
        let needed = SortedMap::from([(word.to_owned(), StringList::default())]);
        all.push(SecurityRequirement { schemes: needed });
    }
    all
}

fn requirement(members: &Map<String, Value>) -> SecurityRequirement {
    let wrapped = members.get("schemes").and_then(Value::as_object);
    let strings = |list: &Value| {
        let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let scopes = |needed: &Value| match wrapped {
        Some(_) => needed.get("list").map(strings).unwrap_or_default(),
        None => strings(needed),
    };
    let all = wrapped.unwrap_or(members).iter();
    let schemes = all.map(|(name, needed)| (name.clone(), StringList { list: scopes(needed) }));
    SecurityRequirement { schemes: schemes.collect() }
}

/// The text of a member, under its camelCase or its snake_case name; `None` if it is empty.
fn text(members: &Map<String, Value>, name: &str) -> Option<String> {
    let value = members.get(name).or_else(|| members.get(&snake(name)))?;
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn snake(name: &str) -> String {
    crate::model::decode::snake_case(name)
}
