import MartletTesting

@testable import MartletOpenIDConnect

extension TokenMaker {
    var publicKey: JSONWebKey? { JSONWebKey(jwk) }

    static func settings(
        rolesClaim: String? = nil, userClaim: String = "preferred_username"
    )
        throws -> OpenIDConnectSettings
    {
        try OpenIDConnectSettings(issuer: issuer, audience: audience, userClaim: userClaim, rolesClaim: rolesClaim)
    }
}
