"""A plugin of pytest: numba as if it were a version of which nothing is known.

``pytest -p tests.support.untried_numba`` shows that kernels give the same without what
kernel/late_linking.py knows of numba's insides.
"""

from __future__ import annotations

import numba

numba.version_info = numba.version_info._replace(short=(0, 999))

from kanon_sql.kernel.late_linking import late_compiler  # noqa: E402

assert late_compiler is None
