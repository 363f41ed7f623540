import MartletCore
import MartletModel

/// A plan for evaluating a tag expression with sorted lists of members. `b && !a` becomes the members of `b` that are
/// not members of `a`; `!a` alone becomes all registrations that are not members of `a`. A plan therefore never needs a
/// list of the registrations that lack a certain tag.
indirect enum AudiencePlan: Equatable {
    case everyone
    case members(Tag)
    /// The members that are in all of `including` and in none of `excluding`. `including` is never empty.
    case join(including: [AudiencePlan], excluding: [AudiencePlan])
    case union([AudiencePlan])

    init(_ expression: TagExpression?) {
        switch expression {
        case nil: self = .everyone
        case .tag(let tag): self = .members(tag)
        case .or(let operands): self = .union(operands.map { AudiencePlan($0) })
        case .and(let operands): self = Self.join(operands)
        case .not(let operand): self = Self.join([.not(operand)])
        }
    }

    private static func join(_ operands: [TagExpression]) -> AudiencePlan {
        var including: [AudiencePlan] = []
        var excluding: [AudiencePlan] = []
        for operand in operands {
            switch operand {
            case .not(.not(let inner)): including.append(AudiencePlan(inner))
            case .not(let inner): excluding.append(AudiencePlan(inner))
            default: including.append(AudiencePlan(operand))
            }
        }
        return .join(including: including.isEmpty ? [.everyone] : including, excluding: excluding)
    }
}
