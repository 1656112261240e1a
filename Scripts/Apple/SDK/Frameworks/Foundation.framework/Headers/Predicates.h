// Own text: predicates, as far as the examples use them. Imported by Foundation.h.
// Source: Apple's page of each symbol, read 27 November 2026.
#pragma once
#pragma clang assume_nonnull begin
typedef double CGFloat;
@interface NSPredicate : NSObject <NSCopying>
@end
@interface NSComparisonPredicate : NSPredicate
@end
typedef NS_ENUM(NSUInteger, NSPredicateOperatorType) {
  NSLessThanPredicateOperatorType NS_SWIFT_NAME(lessThan) = 0,
  NSLessThanOrEqualToPredicateOperatorType NS_SWIFT_NAME(lessThanOrEqualTo) = 1,
  NSGreaterThanPredicateOperatorType NS_SWIFT_NAME(greaterThan) = 2,
  NSGreaterThanOrEqualToPredicateOperatorType NS_SWIFT_NAME(greaterThanOrEqualTo) = 3,
} __attribute__((swift_name("NSComparisonPredicate.Operator")));
#pragma clang assume_nonnull end
