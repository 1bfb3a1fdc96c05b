import sys

import convert

sys.exit(convert.main())
