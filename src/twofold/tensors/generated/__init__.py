"""Generated from the records: do not edit. FAMILIES names the modules."""

FAMILIES = (
    "elementwise",
    "unary",
    "comparison",
    "scaled",
    "activation",
    "reduction",
    "views",
    "creation",
    "mutation",
)
