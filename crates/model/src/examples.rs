//! The documents' own examples as contracts.

/// An example contract.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! examples {
    ($($name:literal: $about:literal,)*) => {
        /// All examples.
        pub static EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            about: $about,
            text: include_str!(concat!("../contracts/", $name, ".yaml")),
        }),*];
    };
}

examples! {
    "sensor-readings": "readings of a sensor, rolled up by day",
    "user-profile": "a profile with segment tags in one map",
    "social-posts": "posts with comments, and who commented",
    "follows": "an N:M relationship with lists on both sides and shards",
    "orders": "orders with line items of several tenants",
    "regions": "stores inside their region; ids that embed the record key",
    "hot-counter": "a counter that is spread over shards",
    "hot-cold": "one key in a fast and a large namespace",
    "leaderboard": "a map whose key order is score order",
    "connected-cars": "an ordered table with sharding and sorting key",
}

/// The example of a name.
pub fn example(name: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.name == name)
}
