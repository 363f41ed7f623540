import CMartletLinux
import Glibc
import Synchronization

/// Resolves names on threads of its own: the system's resolver blocks, for half a minute where no server answers.
final class NameResolver: Sendable {
    private struct Question {
        let name: String
        let port: UInt16
        let answer: @Sendable (Result<[SocketAddress], NetworkError>) -> Void
    }

    private struct State {
        var questions: [Question] = []
        var threads = 0
    }

    private static let maximumThreads = 4
    static let shared = NameResolver()

    private let state = Mutex(State())

    /// Addresses of a name in the order in which they are to be tried; an address is its own answer, given at once.
    /// - Parameter answer: Called on another thread.
    func resolve(
        _ name: String, port: UInt16, _ answer: @escaping @Sendable (Result<[SocketAddress], NetworkError>) -> Void
    ) {
        if let address = SocketAddress(address: name, port: port) { return answer(.success([address])) }
        let needsThread = state.withLock { state in
            state.questions.append(Question(name: name, port: port, answer: answer))
            guard state.threads < Self.maximumThreads else { return false }
            state.threads += 1
            return true
        }
        if needsThread { startThread() }
    }

    private func startThread() {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self)
        if pthread_create(&thread, nil, runResolverThread, argument.toOpaque()) == 0 {
            pthread_detach(thread)
            return
        }
        argument.release()
        // A thread that runs already takes the question too; with none, nobody would ever answer it.
        let unanswered = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [Question]() }
            defer { state.questions = [] }
            return state.questions
        }
        for question in unanswered { question.answer(.failure(.system("pthread_create"))) }
    }

    fileprivate func answerQuestions() {
        while true {
            let question = state.withLock { state in
                guard !state.questions.isEmpty else {
                    state.threads -= 1
                    return Question?.none
                }
                return state.questions.removeFirst()
            }
            guard let question else { return }
            question.answer(Self.ask(question.name, question.port))
        }
    }

    private static func ask(_ name: String, _ port: UInt16) -> Result<[SocketAddress], NetworkError> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, String(port), &hints, &list)
        guard code == 0 else {
            return .failure(NetworkError(.unresolved, "\(name): \(String(cString: gai_strerror(code)))"))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr.flatMap({ SocketAddress($0, length: entry.ai_addrlen) }) {
                addresses.append(address)
            }
            next = entry.ai_next
        }
        return .success(alternating(addresses))
    }

    /// Takes the families in turn, beginning with the one the system prefers, so that a broken one costs one attempt
    /// (RFC 8305, section 4).
    static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first?.family else { return [] }
        let preferred = addresses.filter { $0.family == first }
        let other = addresses.filter { $0.family != first }
        return (0..<max(preferred.count, other.count)).flatMap { index in
            [preferred, other].compactMap { index < $0.count ? $0[index] : nil }
        }
    }
}

private func runResolverThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<NameResolver>.fromOpaque(argument).takeRetainedValue().answerQuestions()
    return nil
}
