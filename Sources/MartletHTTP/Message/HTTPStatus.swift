/// A response status code (RFC 9110, section 15).
public struct HTTPStatus: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The status code, 100 to 999.
    public let code: Int

    public init(_ code: Int) {
        self.code = code
    }

    public init(integerLiteral code: Int) {
        self.code = code
    }

    public static let ok: HTTPStatus = 200
    public static let created: HTTPStatus = 201
    public static let noContent: HTTPStatus = 204
    public static let badRequest: HTTPStatus = 400
    public static let unauthorized: HTTPStatus = 401
    public static let forbidden: HTTPStatus = 403
    public static let notFound: HTTPStatus = 404
    public static let methodNotAllowed: HTTPStatus = 405
    public static let requestTimeout: HTTPStatus = 408
    public static let conflict: HTTPStatus = 409
    public static let gone: HTTPStatus = 410
    public static let preconditionFailed: HTTPStatus = 412
    public static let contentTooLarge: HTTPStatus = 413
    public static let tooManyRequests: HTTPStatus = 429
    public static let headerFieldsTooLarge: HTTPStatus = 431
    public static let internalServerError: HTTPStatus = 500
    public static let serviceUnavailable: HTTPStatus = 503
    /// 507 Insufficient Storage (RFC 4918, section 11.5).
    public static let insufficientStorage: HTTPStatus = 507

    /// True if the request succeeded: 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(code) }
}
