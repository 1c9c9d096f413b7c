//! The access policy of an agent: its file, with the secrets and variables of the deployment.

use super::challenge::Challenges;
use super::guesses::HeldAddresses;
use super::keyring::Vault;
use super::known::KnownTokens;
use super::method::{Circumstances, Making, Method, Place};
use super::proof::{Proof, Proven, Refused};
use super::{Caller, Evidence, Finding, Identity, Judged, TokenDigest, UncheckedToken, Verdict};
use a2a::error::Error;
use a2a::model::{Secret, UnixMillis};
use a2a_agents::access::{Access, Requirement, Scheme};
use a2a_agents::{Misfit, Values};

/// The rules that decide who may call an agent.
pub struct Policy {
    access: Access,
    /// The schemes, in the order in which they identify a caller.
    methods: Vec<Method>,
    /// The alternative requirements. Each lists the indexes of its schemes in `methods`, in order, and the scopes that
    /// it needs.
    alternatives: Vec<Vec<(usize, Vec<String>)>>,
    challenges: Challenges,
    known: KnownTokens,
    held: HeldAddresses,
}

impl Policy {
    /// Makes the policy of the agent with this slug, with the values of this deployment: `values` for texts with
    /// `${NAME}`, `secret` for optional secrets.
    ///
    /// # Errors
    ///
    /// The secret, variable or setting that is missing in the deployment. Outside of development, an agent without schemes must
    /// be `open`, and secrets must not be short.
    pub fn new(
        agent: &str,
        access: &Access,
        values: &dyn Values,
        secret: &dyn Fn(&str) -> Option<Secret>,
        is_development: bool,
    ) -> Result<Self, Misfit> {
        if access.is_anonymous() && !access.open && !is_development {
            return Err(Misfit(UNSAID.to_owned()));
        }
        let share_by = access.share_by.as_deref();
        let vault = Vault { secret, is_development };
        let making = Making { agent, vault, values, share_by };
        let make = |(name, scheme): (&String, &Scheme)| {
            let made = Method::new(name, scheme, &making);
            made.map_err(|problem| Misfit(format!("[access.schemes.{name}] {problem}")))
        };
        let mut methods = access.schemes.iter().map(make).collect::<Result<Vec<_>, _>>()?;
        methods.sort_by_key(Method::rank);
        let alternative = |requirement: &Requirement| {
            let mut places = Vec::new();
            for (name, scopes) in requirement {
                let place = methods.iter().position(|method| method.name == *name);
                let unknown = || Misfit(format!("`access.requires` names no scheme {name:?}"));
                places.push((place.ok_or_else(unknown)?, scopes.clone()));
            }
            places.sort_by_key(|(place, _)| *place);
            if places.is_empty() {
                Err(Misfit("`access.requires` has an entry without schemes".to_owned()))
            } else {
                Ok(places)
            }
        };
        let requirements = access.requirements();
        let alternatives = requirements.iter().map(alternative).collect::<Result<_, _>>()?;
        let challenges = Challenges::new(agent, &methods);
        let (known, held) = (KnownTokens::default(), HeldAddresses::default());
        Ok(Self { access: access.clone(), methods, alternatives, challenges, known, held })
    }

    /// The access settings in the agent's file.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// True if a request contains credentials, right or wrong ones.
    pub fn sees_credentials(&self, evidence: &Evidence<'_>) -> bool {
        self.methods.iter().any(|method| method.is_shown(evidence))
    }

    /// Accepts no credentials from an address until an instant, because the address has sent more wrong credentials than a rate
    /// limit allows.
    pub fn hold(&self, address: &str, until: UnixMillis, now: UnixMillis) {
        self.held.hold(address, until, now);
    }

    /// The refusal of a request with credentials that can be guessed, from an address whose credentials are all refused for now,
    /// right or wrong.
    pub fn held(
        &self,
        evidence: &Evidence<'_>,
        address: impl FnOnce() -> String,
        now: UnixMillis,
    ) -> Option<Judged<'_>> {
        let seconds = self.held.seconds(address, now)?;
        let guessable = self.methods.iter().filter(|method| method.can_be_guessed());
        let shown = guessable.filter(|method| method.is_shown(evidence));
        let findings: Vec<_> =
            shown.map(|method| (&method.place, Finding::Held(seconds))).collect();
        let identity = Identity::Refused(Error::RateLimited(seconds));
        (!findings.is_empty()).then_some(Judged { identity, findings })
    }

    /// For how many more seconds no guessable credentials are accepted from an address; `None` if it is not held.
    pub fn held_s(&self, address: impl FnOnce() -> String, now: UnixMillis) -> Option<u32> {
        self.held.seconds(address, now)
    }

    /// Identifies the caller of a request, and judges its credentials. `verdict` returns the result of a token's check, if the token
    /// was checked in this request.
    ///
    /// The first alternative that passes decides. If an earlier alternative has a token that must still be checked, or
    /// whose keys cannot be fetched, the later ones are not used, so that the same request always has the same caller.
    /// Cookies do not count beside a credential that was sent on purpose, unless a requirement needs both.
    pub fn identify<'p>(
        &'p self,
        evidence: &Evidence<'_>,
        verdict: &dyn Fn(&TokenDigest) -> Option<Verdict>,
        now: UnixMillis,
    ) -> Judged<'p> {
        if self.methods.is_empty() {
            return Identity::Caller(Caller::anonymous()).into();
        }
        self.prove(evidence, verdict, now)
    }

    /// Identifies the caller of a request to an agent with schemes.
    #[inline(never)]
    fn prove<'p>(
        &'p self,
        evidence: &Evidence<'_>,
        verdict: &dyn Fn(&TokenDigest) -> Option<Verdict>,
        now: UnixMillis,
    ) -> Judged<'p> {
        let allowed_origins = self.access.allowed_origins.as_slice();
        let given = Circumstances { known: &self.known, verdict, allowed_origins, now };
        let proofs: Vec<(&'p Method, Proof)> =
            self.methods.iter().map(|method| (method, method.prove(evidence, given))).collect();
        let is_explicit =
            |(method, proof): &(&Method, Proof)| *proof != Proof::Absent && !method.is_ambient;
        let has_explicit = proofs.iter().any(is_explicit);
        let identity = self.weigh_all(&proofs, has_explicit);
        let findings = match identity {
            // The findings follow after the tokens are checked.
            Identity::Pending(_) => Vec::new(),
            Identity::Caller(_) | Identity::Refused(_) => self.findings(&proofs, has_explicit),
        };
        Judged { identity, findings }
    }

    /// The caller of a request with these proofs. `has_explicit`: a credential was sent on purpose.
    fn weigh_all(&self, proofs: &[(&Method, Proof)], has_explicit: bool) -> Identity {
        let mut unchecked: Vec<UncheckedToken> = Vec::new();
        let mut lacking: Option<Vec<String>> = None;
        let mut forbidden: Option<&str> = None;
        for alternative in &self.alternatives {
            let found: Vec<(&Method, &Proof, &[String])> = alternative
                .iter()
                .filter_map(|(place, scopes)| {
                    let (method, proof) = proofs.get(*place)?;
                    Some((*method, proof, scopes.as_slice()))
                })
                .collect();
            if has_explicit && self.is_of_cookies(alternative) {
                continue;
            }
            match weigh(&found) {
                Weighed::Nothing => {}
                Weighed::Forbidden(reason) => forbidden = forbidden.or(Some(reason)),
                Weighed::Unchecked(tokens) => {
                    let is_new = |token: &UncheckedToken| !unchecked.contains(token);
                    let tokens: Vec<_> = tokens.into_iter().filter(is_new).collect();
                    unchecked.extend(tokens);
                }
                // An earlier alternative decides, and it may still pass.
                _ if !unchecked.is_empty() => {}
                Weighed::Unavailable => return Identity::Refused(Error::Unavailable(NO_KEYS)),
                Weighed::Lacking(scopes) => lacking = lacking.or(Some(scopes)),
                Weighed::Passed(caller) => return Identity::Caller(caller),
            }
        }
        if !unchecked.is_empty() {
            return Identity::Pending(unchecked);
        }
        Identity::Refused(match (lacking, forbidden) {
            (Some(scopes), _) => self.challenges.insufficient(&scopes),
            (None, Some(reason)) => self.challenges.forbidden(reason),
            (None, None) => self.unauthenticated(proofs),
        })
    }

    /// The finding about each credential. A credential that is not allowed in a request of this kind was not judged, and a cookie
    /// beside a credential that was sent on purpose counts only if both are required.
    fn findings<'p>(
        &self,
        proofs: &[(&'p Method, Proof)],
        has_explicit: bool,
    ) -> Vec<(&'p Place, Finding)> {
        let counts = |index: usize| {
            let mut alternatives = self.alternatives.iter();
            alternatives.any(|alternative| {
                alternative.iter().any(|(place, _)| *place == index)
                    && !(has_explicit && self.is_of_cookies(alternative))
            })
        };
        let mut findings: Vec<(&'p Place, Finding)> = Vec::new();
        for (index, (method, proof)) in proofs.iter().enumerate() {
            let finding = match proof {
                Proof::Absent | Proof::Forbidden(_) => continue,
                Proof::Passed(_) => Finding::Taken,
                Proof::Unchecked(_) | Proof::Unavailable => Finding::Open,
                Proof::Refused(Refused { reason, is_foreign })
                    if method.can_be_guessed() && counts(index) =>
                {
                    Finding::Refused { reason: reason.clone(), is_foreign: *is_foreign }
                }
                Proof::Refused(_) => continue,
            };
            match findings.iter_mut().find(|(place, _)| **place == method.place) {
                Some((_, known)) => *known = known.clone().or(finding),
                None => findings.push((&method.place, finding)),
            }
        }
        findings
    }

    fn is_of_cookies(&self, alternative: &[(usize, Vec<String>)]) -> bool {
        let mut methods = alternative.iter().filter_map(|(place, _)| self.methods.get(*place));
        methods.all(is_cookie)
    }

    /// Identifies the caller of a request that another agent of this server makes for its own caller, without credentials. The
    /// result is that caller, if it could call this agent itself with the credentials that it has shown to the other agent.
    /// `shown` are the access settings of that other agent: the caller is the same here only if both agents define its scheme
    /// alike, since two agents may use one name for different schemes. So no caller gets access through another agent that it
    /// would not have itself. An alternative that requires several credentials admits nobody in this way, because it is not
    /// known which of them the caller has.
    pub fn vouch(&self, caller: &Caller, shown: Option<&Access>) -> Identity {
        if self.methods.is_empty() {
            return Identity::Caller(caller.clone());
        }
        let Some((scheme, subject)) = caller.id.split_once(':') else {
            return Identity::Refused(self.challenges.missing());
        };
        let shown_scheme = shown.and_then(|access| access.schemes.get(scheme));
        let knows =
            |known: &Scheme| shown_scheme.is_some_and(|shown| known.knows_alike(shown, subject));
        // If the other agent shares tasks by another claim, the tasks here belong only to the caller.
        let shares_alike = shown.is_some_and(|access| access.share_by == self.access.share_by);
        let group = caller.group.clone().filter(|_| shares_alike);
        let mut lacking = None;
        for alternative in &self.alternatives {
            let [(place, scopes)] = alternative.as_slice() else { continue };
            let is_of_caller = self.methods.get(*place).is_some_and(|method| method.name == scheme);
            if !is_of_caller || !self.access.schemes.get(scheme).is_some_and(knows) {
                continue;
            }
            let missing: Vec<String> =
                scopes.iter().filter(|scope| !caller.may(scope)).cloned().collect();
            if missing.is_empty() {
                return Identity::Caller(Caller { group, ..caller.clone() });
            }
            lacking = lacking.or(Some(missing));
        }
        Identity::Refused(match lacking {
            Some(scopes) => self.challenges.insufficient(&scopes),
            None => self.challenges.forbidden(NOT_ITS_CALLER),
        })
    }

    /// The refusal, with the reason why the credential for this agent is wrong.
    fn unauthenticated(&self, proofs: &[(&Method, Proof)]) -> Error {
        let refusals = proofs.iter().filter_map(|(_, proof)| match proof {
            Proof::Refused(refused) => Some(refused),
            _ => None,
        });
        match refusals.min_by_key(|refused| refused.is_foreign) {
            Some(refused) => self.challenges.refused(&refused.reason),
            None => self.challenges.missing(),
        }
    }
}

/// The result of an alternative.
enum Weighed {
    /// The alternative does not admit the caller.
    Nothing,
    /// A credential is not allowed in a request of this kind, for this reason.
    Forbidden(&'static str),
    /// The alternative may admit the caller, after these tokens are checked.
    Unchecked(Vec<UncheckedToken>),
    /// The alternative cannot be decided at the moment.
    Unavailable,
    /// The alternative would admit the caller, but these scopes are missing.
    Lacking(Vec<String>),
    /// The alternative admits this caller.
    Passed(Caller),
}

fn weigh(found: &[(&Method, &Proof, &[String])]) -> Weighed {
    let mut proven: Vec<(&Method, &Proven)> = Vec::new();
    let (mut tokens, mut lacking): (Vec<UncheckedToken>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut forbidden, mut is_unavailable) = (None, false);
    for (method, proof, scopes) in found {
        match proof {
            Proof::Absent | Proof::Refused(_) => return Weighed::Nothing,
            Proof::Forbidden(reason) => forbidden = Some(*reason),
            Proof::Unchecked(token) => tokens.push(token.clone()),
            Proof::Unavailable => is_unavailable = true,
            Proof::Passed(found) => {
                let missing = scopes.iter().filter(|scope| !found.permissions.contains(scope));
                lacking.extend(missing.cloned());
                proven.push((method, found));
            }
        }
    }
    match forbidden {
        Some(reason) => Weighed::Forbidden(reason),
        None if is_unavailable => Weighed::Unavailable,
        None if !tokens.is_empty() => Weighed::Unchecked(tokens),
        None if !lacking.is_empty() => Weighed::Lacking(lacking),
        None => caller_of(&proven).map_or(Weighed::Nothing, Weighed::Passed),
    }
}

/// The caller that these schemes identify: the first one determines the id, and each adds permissions.
fn caller_of(proven: &[(&Method, &Proven)]) -> Option<Caller> {
    let (method, main) = proven.first()?;
    let scheme = &method.name;
    let mut permissions: Vec<String> = Vec::new();
    for permission in proven.iter().flat_map(|(_, proven)| &proven.permissions) {
        if !permissions.contains(permission) {
            permissions.push(permission.clone());
        }
    }
    Some(Caller {
        id: format!("{scheme}:{}", main.subject),
        permissions,
        session: main.session.clone(),
        expires_at: proven.iter().filter_map(|(_, proven)| proven.expires_at).min(),
        group: main.group.as_ref().map(|group| format!("@{scheme}:{group}")),
    })
}

fn is_cookie(method: &Method) -> bool {
    matches!(method.place, Place::Cookie(_))
}

const UNSAID: &str = "nothing says who may call: describe a scheme in [access.schemes.<name>] of the agent file, or let \
                      everybody call with `open = true` in [access]";

const NOT_ITS_CALLER: &str = "the caller of the task cannot call this agent itself";

const NO_KEYS: &str =
    "the keys that the token is checked with are not available at the moment; try again later";

#[cfg(test)]
mod tests;
