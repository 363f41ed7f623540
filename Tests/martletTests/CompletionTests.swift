import Testing

@testable import martlet

struct CompletionTests {
    /// - Parameter line: What is typed; the last word, which may be empty, is completed.
    private func completion(_ line: String) -> Completion {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return Completion(Martlet.table, words: Array(words.dropLast()), current: words.last ?? "")
    }

    private func texts(_ line: String) -> [String] {
        guard case .words(let words) = completion(line) else { return [] }
        return words.map(\.text)
    }

    @Test func commandsAreCompletedWordByWord() {
        #expect(texts("").contains("serve"))
        #expect(texts("").filter { $0 == "hub" }.count == 1)
        #expect(
            texts("hub ") == [
                "create", "list", "show", "connection-string", "delete", "credential", "limits", "sending", "move",
                "key",
            ])
        #expect(texts("hub credential ") == ["set", "remove"])
        #expect(!texts("").contains("complete"))
        #expect(texts("nothing ").isEmpty)
    }

    @Test func optionsAreThoseOfTheCommandThatAreNotGivenYet() {
        #expect(texts("serve --").contains("--tls-listen"))
        #expect(texts("serve --").contains("--config"))
        #expect(texts("serve --tls-self-signed --").contains("--tls-listen"))
        #expect(!texts("serve --tls-self-signed --").contains("--tls-self-signed"))
        #expect(texts("hub credential set demo apns --").contains("--key-id"))
        #expect(!texts("hub credential set demo apns --").contains("--client-secret"))
    }

    @Test func valuesAreOfTheKindThatTheOptionTakes() {
        #expect(completion("serve --tls-key ") == .files)
        #expect(completion("serve --data ") == .directories)
        #expect(texts("serve --users-may-send ") == ["yes", "no"])
        #expect(texts("send demo --platform ").contains("apple"))
        #expect(completion("serve --backend-hub ") == .names(path: "/hubs"))
        #expect(texts("serve --listen ").isEmpty)
    }

    @Test func operandsAreNamesOfWhatThereIs() {
        #expect(completion("hub show ") == .names(path: "/hubs"))
        #expect(completion("send --dry-run ") == .names(path: "/hubs"))
        #expect(completion("user remove --data x ") == .names(path: "/users"))
        #expect(completion("container url ") == .names(path: "/containers"))
        #expect(texts("hub create ").isEmpty)
        #expect(texts("hub credential set demo ").contains("apns"))
        #expect(texts("hub key regenerate demo rule ") == ["primary", "secondary"])
        #expect(completion("backup ") == .files)
        #expect(texts("hub show demo ").isEmpty)
        #expect(texts("completion ") == ["bash", "zsh", "fish"])
    }
}
