//! The newest run of a task: its states, the legal moves between them, and the task's queries about it.
//!
//! The log's entries of a run and its presence in this process are combined in one state: a parked run is in no process, and a run loaded
//! from storage is absent until this process starts it. The task's state is not part of the run's state; the queries take it as an
//! argument.

use super::callback::Callbacks;
use super::{Park, RunRequest, RunStart};
use a2a::model::TaskState;

/// The newest run of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Run {
    /// The log contains no run.
    #[default]
    None,
    /// The run is under way in this process. It remains in this state after the end of its task until it has stopped.
    Active(Turn),
    /// The run waits outside of memory.
    Parked(Turn, Park),
    /// The run has begun and is not in this process. It is lost if the task still needs it.
    Absent(Turn),
    /// The run has ended.
    Over(Turn),
}

/// The turn that a run handles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turn {
    /// How the run began.
    pub(super) start: RunStart,
    /// True if the turn has been parked. Its run then continues even if its task waits for the client.
    pub(super) has_waited: bool,
    /// The number of messages that arrived since the run began and that the run has not read.
    pub(super) unread: usize,
    /// The request of the newest message that arrived since the run began, for the run that will handle it. Not part of the log.
    pub(super) latest: Option<RunRequest>,
    /// The callbacks created in the turn.
    pub(super) callbacks: Callbacks,
}

/// Something that happens to a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    /// The log contains the beginning of another run, which has not read this number of messages.
    Begin(RunStart, usize),
    /// This process starts the run.
    Enter,
    /// The run is dropped from memory and waits.
    Park(Park),
    /// The run has ended.
    End,
    /// The run disappeared from this process before its end.
    Lose,
    /// The run's task has ended.
    TaskEnd,
}

impl Run {
    /// Makes a move. An illegal move leaves the run unchanged.
    pub(super) fn make(&mut self, step: Move) {
        *self = match (std::mem::take(self), step) {
            (before, Move::Begin(start, unread)) => Self::Absent(before.begin(start, unread)),
            (Self::Absent(turn), Move::Enter) => Self::Active(turn),
            (Self::Active(turn) | Self::Absent(turn), Move::Park(park)) => {
                Self::Parked(Turn { has_waited: true, ..turn }, park)
            }
            (Self::Active(turn) | Self::Absent(turn), Move::End) => Self::Over(turn),
            (Self::Active(turn), Move::Lose) => Self::Absent(turn),
            (Self::Parked(turn, _) | Self::Absent(turn), Move::TaskEnd) => Self::Over(turn),
            // Any other move is illegal and has no effect. `TaskEnd` has none for an active run, which stops by itself.
            (run, Move::Enter | Move::Park(_) | Move::End | Move::Lose | Move::TaskEnd) => run,
        };
    }

    /// The turn of the run that begins after the run `self`. Another attempt at the same turn keeps the request of the newest
    /// message. If the attempt resumes, it also keeps the callbacks and `has_waited`.
    fn begin(self, start: RunStart, unread: usize) -> Turn {
        let before = self.into_turn().filter(|turn| turn.start.message == start.message);
        let (has_waited, latest, callbacks) =
            before.map(|turn| (turn.has_waited, turn.latest, turn.callbacks)).unwrap_or_default();
        if start.resumes {
            Turn { start, has_waited, unread, latest, callbacks }
        } else {
            Turn { start, has_waited: false, unread, latest, callbacks: Callbacks::default() }
        }
    }

    fn into_turn(self) -> Option<Turn> {
        match self {
            Self::None => None,
            Self::Active(turn) | Self::Parked(turn, _) | Self::Absent(turn) | Self::Over(turn) => {
                Some(turn)
            }
        }
    }

    /// The newest turn.
    pub(super) fn turn(&self) -> Option<&Turn> {
        match self {
            Self::None => None,
            Self::Active(turn) | Self::Parked(turn, _) | Self::Absent(turn) | Self::Over(turn) => {
                Some(turn)
            }
        }
    }

    /// Like [`turn`](Self::turn), but mutable.
    pub(super) fn turn_mut(&mut self) -> Option<&mut Turn> {
        match self {
            Self::None => None,
            Self::Active(turn) | Self::Parked(turn, _) | Self::Absent(turn) | Self::Over(turn) => {
                Some(turn)
            }
        }
    }

    /// How the newest run began.
    pub(super) fn start(&self) -> Option<&RunStart> {
        self.turn().map(|turn| &turn.start)
    }

    /// The number of messages that no run has read.
    pub(super) fn unread(&self) -> usize {
        self.turn().map_or(0, |turn| turn.unread)
    }

    /// The wait of a run that is parked.
    pub(super) fn park(&self) -> Option<&Park> {
        match self {
            Self::Parked(_, park) => Some(park),
            Self::None | Self::Active(_) | Self::Absent(_) | Self::Over(_) => None,
        }
    }

    /// True if the run is under way in this process.
    pub(super) fn is_active(&self) -> bool {
        matches!(self, Self::Active(_))
    }

    /// True if a task in this state needs the run in memory.
    pub(super) fn is_needed(&self, task: TaskState) -> bool {
        let is_at_work = !task.is_terminal() && !task.is_interrupted();
        match self {
            Self::None => is_at_work,
            Self::Active(turn) | Self::Absent(turn) => {
                is_at_work || (task.is_interrupted() && turn.has_waited)
            }
            Self::Parked(..) | Self::Over(_) => false,
        }
    }

    /// True if the run is not in this process although a task in this state needs it, or has a message for it.
    pub(super) fn is_lost(&self, task: TaskState) -> bool {
        match self {
            Self::None | Self::Absent(_) => {
                self.is_needed(task) || (task.is_interrupted() && self.unread() > 0)
            }
            Self::Active(_) | Self::Parked(..) | Self::Over(_) => false,
        }
    }

    /// True if the run is over for a task in this state.
    pub(super) fn is_over(&self, task: TaskState) -> bool {
        match self {
            Self::Active(_) | Self::Parked(..) => false,
            Self::None | Self::Absent(_) | Self::Over(_) => !self.is_lost(task),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(message: usize, resumes: bool) -> RunStart {
        let request = RunRequest::anonymous();
        RunStart { attempt: 1, resumes, message, begun_ms: 0, request }
    }

    fn park() -> Park {
        let (callback, unanswered) = (None, None);
        Park { nth: 1, at_ms: 0, until_ms: 5, or_message: false, callback, unanswered }
    }

    fn after(moves: impl IntoIterator<Item = Move>) -> Run {
        let mut run = Run::None;
        moves.into_iter().for_each(|step| run.make(step));
        run
    }

    #[test]
    fn each_state_answers_the_questions_of_a_task_in_each_phase() {
        use TaskState::{Completed, InputRequired, Working};
        let begin = |unread| Move::Begin(start(1, false), unread);
        let resume = || Move::Begin(start(1, true), 0);
        // A task that is working, one that waits for its client, and one that has ended: needed, lost, over.
        let (needed, lost, over) =
            ((true, false, false), (true, true, false), (false, false, true));
        let (held, idle) = ((false, false, false), (false, false, true));
        let unread = (false, true, false);
        for (moves, expected) in [
            (vec![], [lost, over, over]),
            (vec![begin(0)], [lost, idle, over]),
            (vec![begin(1)], [lost, unread, over]),
            (vec![begin(0), Move::Enter], [needed, held, held]),
            (vec![begin(0), Move::Enter, Move::Lose], [lost, idle, over]),
            (vec![begin(0), Move::Enter, Move::Park(park())], [held, held, held]),
            (vec![begin(0), Move::Park(park()), resume()], [lost, lost, over]),
            (vec![begin(0), Move::Park(park()), resume(), Move::Enter], [needed, needed, held]),
            (vec![begin(0), Move::Park(park()), begin(0)], [lost, idle, over]),
            (vec![begin(0), Move::Enter, Move::End], [idle, idle, over]),
        ] {
            let run = after(moves.clone());
            let answers = [Working, InputRequired, Completed]
                .map(|task| (run.is_needed(task), run.is_lost(task), run.is_over(task)));
            assert_eq!(answers, expected, "{moves:?}");
        }
    }

    #[test]
    fn a_move_that_is_not_legal_changes_nothing() {
        let begun = || vec![Move::Begin(start(1, false), 0)];
        let then = |moves: &[Move]| after(begun().into_iter().chain(moves.iter().cloned()));
        for (legal, illegal) in [
            (vec![], Move::Lose),
            (vec![Move::Enter], Move::TaskEnd),
            (vec![Move::Enter], Move::Enter),
            (vec![Move::Park(park())], Move::Enter),
            (vec![Move::Park(park())], Move::End),
            (vec![Move::Park(park())], Move::Lose),
            (vec![Move::End], Move::Enter),
            (vec![Move::End], Move::Park(park())),
        ] {
            let run = then(&legal);
            let both = [legal.as_slice(), std::slice::from_ref(&illegal)].concat();
            assert_eq!(then(&both), run, "{illegal:?} behind {legal:?}");
        }
        assert_eq!(after([Move::Enter]), Run::None);
    }

    #[test]
    fn another_attempt_at_a_turn_keeps_what_belongs_to_the_turn() {
        let mut run = after([Move::Begin(start(1, false), 0), Move::Park(park())]);
        run.turn_mut().unwrap().latest = Some(start(2, false).request);
        for (next, keeps_wait, keeps_request) in [
            (start(1, true), true, true),
            (start(1, false), false, true),
            (start(2, false), false, false),
        ] {
            let mut run = run.clone();
            run.make(Move::Begin(next, 3));
            let turn = run.turn().unwrap();
            assert_eq!((turn.has_waited, turn.latest.is_some()), (keeps_wait, keeps_request));
            assert_eq!((turn.unread, run.park()), (3, None));
        }
    }
}
