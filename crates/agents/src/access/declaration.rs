//! The security schemes and requirements of a card. They are derived from `[access]` alone (spec §4.5).

use super::scheme::FLOWS;
use super::{Access, DeclaredAs, Jwt, KeyLocation, OAuthFlow, Scheme, check_url};
use crate::{Problem, no_such};
use a2a::model::{
    ApiKeySecurityScheme, HttpAuthSecurityScheme, MutualTlsSecurityScheme, OAuth2SecurityScheme,
    OAuthFlows, OpenIdConnectSecurityScheme, SecurityRequirement, SecurityScheme, StringList,
};
use a2a::sorted::SortedMap;

impl Access {
    /// The schemes that requirements name, as a card declares them. A scheme is left out if its declaration lacks a
    /// value; the checker reports that as an error.
    pub(crate) fn security_schemes(&self) -> SortedMap<String, SecurityScheme> {
        let requirements = self.requirements();
        let is_required = |name: &String| requirements.iter().any(|one| one.contains_key(name));
        let declared = self.schemes.iter().filter(|(name, _)| is_required(name));
        declared.filter_map(|(name, scheme)| Some((name.clone(), scheme.declaration()?))).collect()
    }

    /// The requirements as a card declares them.
    pub(crate) fn security_requirements(&self) -> Vec<SecurityRequirement> {
        let declared = self.requirements().into_iter().map(|requirement| {
            let list = |(name, list)| (name, StringList { list });
            SecurityRequirement { schemes: requirement.into_iter().map(list).collect() }
        });
        declared.collect()
    }

    /// The problems of the declarations of schemes, each with its key and the fix.
    pub(crate) fn declaration_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (name, scheme) in &self.schemes {
            let Scheme::Jwt(jwt) = scheme else { continue };
            let found = jwt.declaration_problems().into_iter();
            problems.extend(found.map(|one| one.under(&format!("access.schemes.{name}."))));
        }
        problems
    }
}

impl Scheme {
    fn declaration(&self) -> Option<SecurityScheme> {
        let declared = match self {
            Self::ApiKey(key) => api_key(&key.description, key.location, &key.name),
            Self::Bearer(bearer) => http(&bearer.description, "Bearer", None),
            Self::Basic(basic) => http(&basic.description, "Basic", None),
            Self::Jwt(jwt) => return jwt.declaration(),
            Self::CloudflareAccess(access) => {
                api_key(&access.description, KeyLocation::Header, CLOUDFLARE_ACCESS_HEADER)
            }
            Self::MutualTls(tls) => {
                // Without a description, the object of this scheme would be empty, and signers of some SDKs omit empty
                // objects.
                let described = tls.description.clone();
                let described = described.or_else(|| Some("A client certificate.".to_owned()));
                SecurityScheme::MutualTls(MutualTlsSecurityScheme { description: described })
            }
        };
        Some(declared)
    }
}

impl Jwt {
    fn declaration(&self) -> Option<SecurityScheme> {
        if let Some(cookie) = &self.cookie {
            return Some(api_key(&self.description, KeyLocation::Cookie, cookie));
        }
        let description = self.description.clone();
        Some(match self.declared_as {
            DeclaredAs::Http => http(&self.description, "Bearer", Some("JWT")),
            DeclaredAs::OAuth2 => SecurityScheme::OAuth2(Box::new(OAuth2SecurityScheme {
                description,
                flows: self.flows.iter().find_map(|(name, flow)| flow.declaration(name))?,
                metadata_url: self.oauth2_metadata_url.clone(),
            })),
            DeclaredAs::OpenIdConnect => {
                let issuer = self.issuer.as_deref()?.trim_end_matches('/');
                SecurityScheme::OpenIdConnect(OpenIdConnectSecurityScheme {
                    description,
                    open_id_connect_url: format!("{issuer}/.well-known/openid-configuration"),
                })
            }
        })
    }

    fn declaration_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |key: &str, fix: String| problems.push(Problem::at(key, fix));
        let is_oauth2 = self.declared_as == DeclaredAs::OAuth2;
        if self.cookie.is_some() && self.declared_as != DeclaredAs::Http {
            let fix = "is not heeded beside `cookie`: a token in a cookie is declared as an API key; remove it";
            report("declared_as", fix.to_owned());
        } else if self.declared_as == DeclaredAs::OpenIdConnect && self.issuer.is_none() {
            let fix =
                "is \"openIdConnect\", which needs `issuer`: the card names its discovery document";
            report("declared_as", fix.to_owned());
        }
        if !is_oauth2 {
            if !self.flows.is_empty() {
                report("flows", "belongs to `declared_as = \"oauth2\"`; add that".to_owned());
            }
            if self.oauth2_metadata_url.is_some() {
                let fix = "belongs to `declared_as = \"oauth2\"`; add that";
                report("oauth2_metadata_url", fix.to_owned());
            }
            return problems;
        }
        if self.flows.len() != 1 {
            let count = self.flows.len();
            let known = FLOWS.join(", ");
            report("flows", format!("must have one flow, got {count}; there are: {known}"));
        }
        for (name, flow) in &self.flows {
            match needs_of(name) {
                None => report("flows", no_such("flow", name, FLOWS)),
                Some((needed, unheeded)) => {
                    for url in needed.iter().filter(|url| flow.url(url).is_none()) {
                        report(&format!("flows.{name}"), format!("needs `{url}`"));
                    }
                    for url in unheeded.iter().filter(|url| flow.url(url).is_some()) {
                        report(&format!("flows.{name}"), format!("has no `{url}`; remove it"));
                    }
                    if flow.pkce_required && name != "authorizationCode" {
                        let fix = "has no `pkce_required`; remove it";
                        report(&format!("flows.{name}"), fix.to_owned());
                    }
                }
            }
            for (key, url) in flow.urls() {
                if let Err(rule) = check_template(url) {
                    report(&format!("flows.{name}.{key}"), format!("{rule}, got {url:?}"));
                }
            }
        }
        if let Some(url) = &self.oauth2_metadata_url
            && let Err(rule) = check_template(url)
        {
            report("oauth2_metadata_url", format!("{rule}, got {url:?}"));
        }
        problems
    }
}

impl OAuthFlow {
    fn declaration(&self, name: &str) -> Option<OAuthFlows> {
        let (token_url, refresh_url) = (self.token_url.clone(), self.refresh_url.clone());
        let scopes = self.scopes.clone();
        Some(match name {
            "authorizationCode" => OAuthFlows::AuthorizationCode {
                authorization_url: self.authorization_url.clone()?,
                token_url: token_url?,
                refresh_url,
                scopes,
                pkce_required: self.pkce_required,
            },
            "clientCredentials" => {
                OAuthFlows::ClientCredentials { token_url: token_url?, refresh_url, scopes }
            }
            "deviceCode" => OAuthFlows::DeviceCode {
                device_authorization_url: self.device_authorization_url.clone()?,
                token_url: token_url?,
                refresh_url,
                scopes,
            },
            _ => return None,
        })
    }

    /// The URLs of the flow, each with its key.
    fn urls(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let urls = [
            ("authorization_url", &self.authorization_url),
            ("device_authorization_url", &self.device_authorization_url),
            ("token_url", &self.token_url),
            ("refresh_url", &self.refresh_url),
        ];
        urls.into_iter().filter_map(|(key, url)| Some((key, url.as_deref()?)))
    }

    fn url(&self, key: &str) -> Option<&str> {
        self.urls().find(|(known, _)| *known == key).map(|(_, url)| url)
    }
}

/// The URLs that a flow requires, and the URLs that it must not have.
fn needs_of(flow: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    match flow {
        "authorizationCode" => {
            Some((&["authorization_url", "token_url"], &["device_authorization_url"]))
        }
        "clientCredentials" => {
            Some((&["token_url"], &["authorization_url", "device_authorization_url"]))
        }
        "deviceCode" => Some((&["device_authorization_url", "token_url"], &["authorization_url"])),
        _ => None,
    }
}

/// Checks a URL, unless it contains variables.
fn check_template(url: &str) -> Result<(), String> {
    if url.contains("${") { Ok(()) } else { check_url(url) }
}

fn api_key(description: &Option<String>, location: KeyLocation, name: &str) -> SecurityScheme {
    let location = match location {
        KeyLocation::Header => "header",
        KeyLocation::Query => "query",
        KeyLocation::Cookie => "cookie",
    };
    SecurityScheme::ApiKey(ApiKeySecurityScheme {
        description: description.clone(),
        location: location.to_owned(),
        name: name.to_owned(),
    })
}

fn http(description: &Option<String>, scheme: &str, format: Option<&str>) -> SecurityScheme {
    SecurityScheme::HttpAuth(HttpAuthSecurityScheme {
        description: description.clone(),
        scheme: scheme.to_owned(),
        bearer_format: format.map(str::to_owned),
    })
}

/// The header in which Cloudflare Access sends its token.
const CLOUDFLARE_ACCESS_HEADER: &str = "Cf-Access-Jwt-Assertion";

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn access(text: &str) -> Access {
        toml::from_str(text).unwrap()
    }

    fn declared(scheme: &str) -> Value {
        let access = access(&format!("[schemes.s]\n{scheme}"));
        assert_eq!(access.declaration_problems(), [], "{scheme}");
        serde_json::to_value(access.security_schemes().get("s").unwrap()).unwrap()
    }

    const CALLERS: &str = "callers = [{ id = 'a', secrets = ['A_KEY'] }]";
    const JWT: &str =
        "kind = 'jwt'\naudience = ['a']\nissuer = 'https://id.example/'\ndiscover = true\n";

    #[test]
    fn every_kind_of_scheme_has_its_declaration() {
        for (scheme, expected) in [
            (
                format!("kind = 'api_key'\nname = 'X-Key'\ndescription = 'A key.'\n{CALLERS}"),
                json!({"apiKeySecurityScheme": {"description": "A key.", "location": "header", "name": "X-Key"}}),
            ),
            (
                format!("kind = 'api_key'\nin = 'query'\nname = 'key'\n{CALLERS}"),
                json!({"apiKeySecurityScheme": {"location": "query", "name": "key"}}),
            ),
            (
                format!("kind = 'api_key'\nin = 'cookie'\nname = 'key'\n{CALLERS}"),
                json!({"apiKeySecurityScheme": {"location": "cookie", "name": "key"}}),
            ),
            (
                format!("kind = 'bearer'\n{CALLERS}"),
                json!({"httpAuthSecurityScheme": {"scheme": "Bearer"}}),
            ),
            (
                format!("kind = 'basic'\ndescription = 'A name and a password.'\n{CALLERS}"),
                json!({"httpAuthSecurityScheme": {"description": "A name and a password.", "scheme": "Basic"}}),
            ),
            (
                JWT.to_owned(),
                json!({"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}}),
            ),
            (
                format!("{JWT}cookie = 'session'"),
                json!({"apiKeySecurityScheme": {"location": "cookie", "name": "session"}}),
            ),
            (
                format!("{JWT}declared_as = 'openIdConnect'"),
                json!({"openIdConnectSecurityScheme":
                    {"openIdConnectUrl": "https://id.example/.well-known/openid-configuration"}}),
            ),
            (
                format!(
                    "{JWT}declared_as = 'oauth2'\noauth2_metadata_url = 'https://id.example/meta'\n\
                     [schemes.s.flows.clientCredentials]\ntoken_url = '${{ISSUER}}/token'"
                ),
                json!({"oauth2SecurityScheme": {
                    "flows": {"clientCredentials": {"tokenUrl": "${ISSUER}/token", "scopes": {}}},
                    "oauth2MetadataUrl": "https://id.example/meta"}}),
            ),
            (
                format!(
                    "{JWT}declared_as = 'oauth2'\n[schemes.s.flows.authorizationCode]\n\
                     authorization_url = 'https://a'\ntoken_url = 'https://t'\nrefresh_url = 'https://r'\n\
                     pkce_required = true\nscopes = {{ read = 'Reads.' }}"
                ),
                json!({"oauth2SecurityScheme": {"flows": {"authorizationCode": {
                    "authorizationUrl": "https://a", "tokenUrl": "https://t", "refreshUrl": "https://r",
                    "scopes": {"read": "Reads."}, "pkceRequired": true}}}}),
            ),
            (
                format!(
                    "{JWT}declared_as = 'oauth2'\n[schemes.s.flows.deviceCode]\n\
                     device_authorization_url = 'https://d'\ntoken_url = 'https://t'"
                ),
                json!({"oauth2SecurityScheme": {"flows": {"deviceCode":
                    {"deviceAuthorizationUrl": "https://d", "tokenUrl": "https://t", "scopes": {}}}}}),
            ),
            (
                "kind = 'cloudflare_access'\nteam = 'https://t.cloudflareaccess.com'\naudience = ['a']".to_owned(),
                json!({"apiKeySecurityScheme": {"location": "header", "name": "Cf-Access-Jwt-Assertion"}}),
            ),
            (
                "kind = 'mutual_tls'".to_owned(),
                json!({"mtlsSecurityScheme": {"description": "A client certificate."}}),
            ),
        ] {
            assert_eq!(declared(&scheme), expected, "{scheme}");
        }
    }

    #[test]
    fn requirements_are_declared_as_they_are_enforced() {
        let schemes = format!(
            "[schemes.key]\nkind = 'api_key'\nname = 'k'\n{CALLERS}\n[schemes.tls]\nkind = 'mutual_tls'"
        );
        for (requires, expected) in [
            ("", json!([{"schemes": {"key": {"list": []}}}, {"schemes": {"tls": {"list": []}}}])),
            (
                "requires = [{ key = [], tls = [] }, { key = ['read', 'write'] }]\n",
                json!([
                    {"schemes": {"key": {"list": []}, "tls": {"list": []}}},
                    {"schemes": {"key": {"list": ["read", "write"]}}},
                ]),
            ),
        ] {
            let access = access(&format!("{requires}{schemes}"));
            assert_eq!(serde_json::to_value(access.security_requirements()).unwrap(), expected);
            assert_eq!(access.security_schemes().len(), 2);
        }
        let access = access(&format!("requires = [{{ key = [] }}]\n{schemes}"));
        let declared: Vec<String> = access.security_schemes().keys().cloned().collect();
        assert_eq!(declared, ["key"], "what nobody may pass is not declared");
        assert_eq!(Access::default().security_requirements(), []);
    }

    #[test]
    fn a_declaration_that_lacks_something_is_refused() {
        let oauth2 = |more: &str| format!("{JWT}declared_as = 'oauth2'\n{more}");
        for (scheme, told) in [
            (
                "kind = 'jwt'\naudience = ['a']\nsecrets = ['S']\ndeclared_as = 'openIdConnect'"
                    .to_owned(),
                "access.schemes.s.declared_as is \"openIdConnect\", which needs `issuer`",
            ),
            (
                format!("{JWT}cookie = 'c'\ndeclared_as = 'openIdConnect'"),
                "access.schemes.s.declared_as is not heeded beside `cookie`",
            ),
            (oauth2(""), "access.schemes.s.flows must have one flow, got 0"),
            (
                oauth2("[schemes.s.flows.implicit]\nauthorization_url = 'https://a'"),
                "access.schemes.s.flows there is no flow \"implicit\"; there are: authorizationCode",
            ),
            (
                oauth2("[schemes.s.flows.authorizationCode]\ntoken_url = 'https://t'"),
                "access.schemes.s.flows.authorizationCode needs `authorization_url`",
            ),
            (
                oauth2(
                    "[schemes.s.flows.clientCredentials]\ntoken_url = 'https://t'\nauthorization_url = 'https://a'",
                ),
                "access.schemes.s.flows.clientCredentials has no `authorization_url`; remove it",
            ),
            (
                oauth2(
                    "[schemes.s.flows.clientCredentials]\ntoken_url = 'https://t'\npkce_required = true",
                ),
                "access.schemes.s.flows.clientCredentials has no `pkce_required`; remove it",
            ),
            (
                oauth2("[schemes.s.flows.clientCredentials]\ntoken_url = 'http://t.example'"),
                "access.schemes.s.flows.clientCredentials.token_url must begin with https://",
            ),
            (
                format!("{JWT}oauth2_metadata_url = 'https://m'"),
                "access.schemes.s.oauth2_metadata_url belongs to `declared_as = \"oauth2\"`",
            ),
            (
                format!("{JWT}[schemes.s.flows.clientCredentials]\ntoken_url = 'https://t'"),
                "access.schemes.s.flows belongs to `declared_as = \"oauth2\"`",
            ),
        ] {
            let problems = access(&format!("[schemes.s]\n{scheme}")).declaration_problems();
            let problems: Vec<String> = problems
                .into_iter()
                .map(|Problem { key, text, .. }| format!("{key} {text}"))
                .collect();
            assert!(problems.iter().any(|problem| problem.starts_with(told)), "{problems:?}");
        }
    }
}
