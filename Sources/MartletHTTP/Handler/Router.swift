/// Finds the handler of a request by method and path.
///
/// A pattern is a path whose segments are literals or names in braces: `/{hub}/registrations/{id}`. Literals compare
/// without case and a trailing slash is tolerated, because the clients of the hub spell both ways. A last name that ends
/// in dots, `{path...}`, stands for one or more segments. The first pattern added that fits a path is the
/// path's only one: a method that it has no route for is refused.
public struct Router: HTTPHandler {
    /// Answers a request of a route.
    public typealias Answer = @Sendable (HTTPRequest, RouteMatch) async -> HTTPResponse
    /// Decides on the head of a request how it is taken.
    public typealias Admission = @Sendable (HTTPRequest, RouteMatch) -> HTTPRoute

    private struct Route {
        let method: HTTPMethod
        let name: String
        let pattern: [Segment]
        let admit: Admission
    }

    fileprivate enum Segment: Equatable {
        case literal(String)
        case parameter(String)
        /// What is left of the path.
        case rest(String)
    }

    /// Why no route answers a request.
    public enum Refusal: Sendable {
        /// The target is not one that RFC 3986 allows.
        case badTarget
        case notFound
        /// Another method would be answered: those of `allow`.
        case methodNotAllowed(allow: [HTTPMethod])
    }

    private var routes: [Route] = []
    private let refuse: @Sendable (HTTPRequest, Refusal) -> HTTPResponse

    /// - Parameter refuse: Makes the answer, in the form of the API, to a request that no route takes.
    public init(refuse: @escaping @Sendable (HTTPRequest, Refusal) -> HTTPResponse) {
        self.refuse = refuse
    }

    /// Adds a route that takes every request.
    /// - Parameters:
    ///   - pattern: Starts with a slash.
    ///   - bodyLimit: The largest body that is taken, in bytes.
    ///   - streamsBody: Whether the body is read by `answer`, from `HTTPRequest.reader`, instead of being collected.
    public mutating func on(
        _ method: HTTPMethod, _ pattern: String, bodyLimit: Int = 0, streamsBody: Bool = false,
        answer: @escaping Answer
    ) {
        admit(method, pattern) { _, match in
            HTTPRoute(bodyLimit: bodyLimit, streamsBody: streamsBody) { request in await answer(request, match) }
        }
    }

    /// Adds a route that decides on the head of each request how it is taken.
    /// - Parameter pattern: Starts with a slash.
    public mutating func admit(_ method: HTTPMethod, _ pattern: String, _ admission: @escaping Admission) {
        let segments = pattern.split(separator: "/").map { part in
            Segment(part)
        }
        routes.append(
            Route(method: method, name: "\(method.rawValue) \(pattern)", pattern: segments, admit: admission))
    }

    /// The routes as `METHOD PATTERN`, in the order in which they were added.
    public var routeNames: [String] { routes.map(\.name) }

    public func route(for head: HTTPRequest) -> HTTPRoute {
        switch find(head) {
        case .success(let (route, match)): route.admit(head, match)
        case .failure(let failure): HTTPRoute(refusing: refuse(head, failure.refusal))
        }
    }

    private struct NoRoute: Error {
        let refusal: Refusal
    }

    private func find(_ request: HTTPRequest) -> Result<(route: Route, match: RouteMatch), NoRoute> {
        guard let target = HTTPTarget(request.target) else { return .failure(NoRoute(refusal: .badTarget)) }
        var resource: [Segment]?
        var allow: [HTTPMethod] = []
        for index in routes.indices where Self.fits(routes[index].pattern, target.segments) {
            let route = routes[index]
            guard resource == nil || resource == route.pattern else { continue }
            if route.method == request.method {
                let parameters = Self.parameters(of: route.pattern, in: target.segments)
                return .success((route, RouteMatch(target: target, parameters: parameters)))
            }
            resource = route.pattern
            allow.append(route.method)
        }
        return .failure(NoRoute(refusal: allow.isEmpty ? .notFound : .methodNotAllowed(allow: allow)))
    }

    private static func fits(_ pattern: [Segment], _ segments: [String]) -> Bool {
        let isOpen = pattern.last?.isRest == true
        guard isOpen ? pattern.count <= segments.count : pattern.count == segments.count else { return false }
        return zip(pattern, segments).allSatisfy { part, segment in
            guard case .literal(let literal) = part else { return true }
            // Most patterns are none of this path's, which shows without making another text.
            return segment.utf8.count == literal.utf8.count && (segment == literal || segment.lowercased() == literal)
        }
    }

    private static func parameters(of pattern: [Segment], in segments: [String]) -> [RouteMatch.Parameter] {
        var parameters: [RouteMatch.Parameter] = []
        for (index, part) in pattern.enumerated() {
            switch part {
            case .rest(let name):
                parameters.append((name, segments[index...].joined(separator: "/"), index..<segments.count))
            case .literal: break
            case .parameter(let name): parameters.append((name, segments[index], index..<index + 1))
            }
        }
        return parameters
    }
}

extension Router.Segment {
    fileprivate init(_ part: Substring) {
        guard part.first == "{" else {
            self = .literal(part.lowercased())
            return
        }
        let name = part.dropFirst().dropLast()
        self = name.hasSuffix("...") ? .rest(String(name.dropLast(3))) : .parameter(String(name))
    }

    fileprivate var isRest: Bool {
        if case .rest = self { true } else { false }
    }
}

/// What a route found in the target of a request.
public struct RouteMatch: Sendable {
    public let target: HTTPTarget
    typealias Parameter = (name: String, value: String, segments: Range<Int>)
    /// A handful, which is found sooner one after the other than by a hash.
    private let parameters: [Parameter]

    init(target: HTTPTarget, parameters: [Parameter]) {
        self.target = target
        self.parameters = parameters
    }

    /// The decoded segment at a name in braces; empty for a name that the pattern does not have.
    public subscript(name: String) -> String { parameters.last { $0.name == name }?.value ?? "" }

    /// The name in braces that the segment at a position stands for; nil for a literal.
    public func parameterName(at index: Int) -> String? {
        parameters.first { $0.segments.contains(index) }?.name
    }
}
