//! A seed decides everything.

#[test]
fn two_runs_of_a_seed_have_the_same_history_and_no_violation() {
    for seed in 0..10 {
        let (first, second) = (cairn_sim::run(seed, 400), cairn_sim::run(seed, 400));
        assert_eq!(first.violation, None, "seed {seed}");
        assert_eq!(first.history, second.history, "seed {seed}");
        assert_eq!(first.faults, second.faults, "seed {seed}");
    }
}

#[test]
fn different_seeds_have_different_histories() {
    assert_ne!(cairn_sim::run(1, 50).history, cairn_sim::run(2, 50).history);
}
