import MartletCrypto

extension Argon2id.Parameters {
    /// A hash that no password matches, and that takes as long to check as a real one.
    var decoy: String {
        "$argon2id$v=19$m=\(memory),t=\(iterations),p=\(parallelism)"
            + "$bWFydGxldC1kZWNveS1zYQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    }
}
