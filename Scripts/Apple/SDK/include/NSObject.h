// Own text: the root of Objective-C's classes and the attributes that Swift's importer reads, as far as a type check needs them.
// Source: public bindings (objc2, dotnet/macios) and Apple's documentation pages; first written 22 November 2026.
#pragma once
typedef signed char int8_; typedef long NSInteger; typedef unsigned long NSUInteger;
typedef _Bool BOOL;
#define YES ((BOOL)1)
#define NO ((BOOL)0)
typedef struct _NSZone NSZone;
#define NS_SWIFT_NAME(n) __attribute__((swift_name(#n)))
#define NS_SWIFT_SENDABLE __attribute__((swift_attr("@Sendable")))
#define NS_SWIFT_UI_ACTOR __attribute__((swift_attr("@UIActor")))
#define NS_SWIFT_NONISOLATED __attribute__((swift_attr("nonisolated")))
#define NS_SWIFT_NONSENDABLE __attribute__((swift_attr("@_nonSendable")))
#define NS_SWIFT_UNAVAILABLE(m) __attribute__((availability(swift, unavailable, message=m)))
#define NS_REFINED_FOR_SWIFT __attribute__((swift_private))
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define NS_TYPED_ENUM __attribute__((swift_newtype(enum)))
#define NS_TYPED_EXTENSIBLE_ENUM __attribute__((swift_newtype(struct)))
#define NS_ENUM(_type, _name) enum __attribute__((enum_extensibility(open))) _name : _type _name; enum _name : _type
#define NS_CLOSED_ENUM(_type, _name) enum __attribute__((enum_extensibility(closed))) _name : _type _name; enum _name : _type
#define NS_OPTIONS(_type, _name) enum __attribute__((flag_enum,enum_extensibility(open))) _name : _type _name; enum _name : _type
#define NS_ERROR_ENUM(_domain, _name) enum _name : NSInteger _name; enum __attribute__((ns_error_domain(_domain))) _name : NSInteger
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_AUDITED_BEGIN _Pragma("clang assume_nonnull begin") _Pragma("clang attribute push (__attribute__((swift_attr(\"@_nonSendable(_assumed)\"))), apply_to = any(objc_interface, record, enum))")
#define NS_AUDITED_END _Pragma("clang attribute pop") _Pragma("clang assume_nonnull end")
#define AV(...) __attribute__((availability(__VA_ARGS__)))
#pragma clang assume_nonnull begin
@class NSString, NSInvocation;
@protocol NSObject
- (BOOL)isEqual:(nullable id)object;
@property (readonly) NSUInteger hash;
@property (readonly, copy) NSString *description;
- (BOOL)isKindOfClass:(Class)aClass;
- (BOOL)respondsToSelector:(SEL)aSelector;
@end
__attribute__((objc_root_class))
@interface NSObject <NSObject> { Class isa; }
+ (void)initialize NS_SWIFT_UNAVAILABLE("");
- (instancetype)init NS_DESIGNATED_INITIALIZER;
+ (instancetype)new NS_SWIFT_UNAVAILABLE("");
@end
#pragma clang assume_nonnull end
