import CMartletLinux
import Glibc
import Synchronization

/// Resolves names on its own threads, because a call of the system's resolver blocks its thread. The call takes up to
/// half a minute if no DNS server answers.
final class NameResolver: Sendable {
    struct Question: Sendable {
        let name: String
        let port: UInt16
        let answer: @Sendable (Result<[SocketAddress], NetworkError>) -> Void
    }

    private struct State {
        var queue = ResolverQueue<Question>()
        var threads = 0
    }

    private static let maximumThreads = 4
    static let shared = NameResolver()

    private let state = Mutex(State())

    /// Resolves a name to addresses in the system's order of preference. A numeric address is returned immediately.
    /// Results are not cached.
    /// - Parameters:
    ///   - isUntrusted: Whether the name was chosen by an untrusted party, who may want to keep the resolver busy.
    ///   - deadline: The time after which the caller no longer waits for the result.
    ///   - answer: Receives the result. Called on any thread.
    func resolve(
        _ name: String, port: UInt16, isUntrusted: Bool, before deadline: ContinuousClock.Instant,
        _ answer: @escaping @Sendable (Result<[SocketAddress], NetworkError>) -> Void
    ) {
        if let address = SocketAddress(address: name, port: port) { return answer(.success([address])) }
        let question = Question(name: name, port: port, answer: answer)
        let (isTaken, needsThread) = state.withLock { state in
            let site = isUntrusted ? ResolverQueue<Question>.site(of: name) : nil
            guard state.queue.add(question, site: site, before: deadline) else { return (false, false) }
            guard state.threads < Self.maximumThreads else { return (true, false) }
            state.threads += 1
            return (true, true)
        }
        if !isTaken { answer(.failure(NetworkError(.unresolved, "\(name): too many names wait to be resolved"))) }
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
        // If another thread is running, it also handles this question. If no thread is running, no waiting question
        // would ever be answered, so all of them fail now.
        let unanswered = state.withLock { state in
            state.threads -= 1
            return state.threads == 0 ? state.queue.removeAll() : []
        }
        for question in unanswered { question.answer(.failure(.system("pthread_create"))) }
    }

    fileprivate func answerQuestions() {
        var finished: ResolverQueue<Question>.Entry?
        while true {
            let (late, next) = state.withLock { state in
                if let finished { state.queue.finish(finished) }
                let late = state.queue.removeLate(at: .now)
                let next = state.queue.next()
                if next == nil { state.threads -= 1 }
                return (late, next)
            }
            for question in late {
                question.answer(.failure(NetworkError(.timedOut, "\(question.name): was not resolved in time")))
            }
            guard let next else { return }
            next.question.answer(Self.ask(next.question.name, next.question.port))
            finished = next
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
        return .success(addresses)
    }

    /// Returns the addresses of a name in the order in which a connection tries them.
    ///
    /// The address families alternate, beginning with the system's preferred family, so that a broken family costs only
    /// one attempt (RFC 8305, section 4). Within a family the order is random, to spread connections over all
    /// addresses, but addresses that already have a connection come last.
    static func order(
        _ addresses: [SocketAddress], taken: Set<SocketAddress> = [], using chance: inout some RandomNumberGenerator
    ) -> [SocketAddress] {
        guard let first = addresses.first?.family else { return [] }
        let shuffled = addresses.shuffled(using: &chance)
        let sorted = shuffled.filter { !taken.contains($0) } + shuffled.filter(taken.contains)
        let preferred = sorted.filter { $0.family == first }
        let other = sorted.filter { $0.family != first }
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
